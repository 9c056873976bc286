import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * The application master of a replayed job: asks for a container for each task of every stage whose predecessors are
 * done, and runs in it the command that the plan gives. One thread, one heartbeat a second, as MapReduce has it.
 * Early stages (reduces) are asked for while their predecessors run, as MapReduce does (EarlyRule); their containers
 * hold what they have until the predecessors are done (Gate).
 *
 * The plan (plan.txt, written by plan.py) has one line for each of
 *   script URL SIZE MODIFIED_MS                  the file that every container needs
 *   stage MEMORY_MB VCORES AFTER [early=PERMILLE]  AFTER: numbers of stages, comma-separated, or "-";
 *                                                PERMILLE of their tasks must be done before the first is asked for
 *   task STAGE ARGUMENTS... [input=NODE:BYTES]   what the script is called with, and what it reads from which node
 *   reads STAGE OTHER BYTES                      what the tasks of a stage read, all together, of another's output
 *   data PORT HOST,...                           where nodes serve data, in order of number; without it none is fetched
 */
public class ReplayMaster {
  private static final long HEARTBEAT_MS = 1000;
  private static final int MOST_ATTEMPTS = 4;
  private static final long NODE_HEARTBEAT_MS = 1000;

  private final List<Stage> stages = new ArrayList<>();
  private final Map<Integer, Stage> byPriority = new HashMap<>();
  private final Map<ContainerId, Stage.Task> running = new LinkedHashMap<>(); // the oldest first
  private final Map<ContainerId, Stage.Task> givenBack = new HashMap<>();
  private LocalResource script;
  private Gate gate; // null: no stage is early
  private Data data; // null: nothing is fetched
  private int tasks;
  private int finished;

  public static void main(String[] arguments) throws Exception {
    new ReplayMaster().run();
  }

  private void run() throws Exception {
    readPlan(Path.of("plan.txt"));
    setPriorities();
    if (stages.stream().anyMatch(Stage::isEarly)) {
      gate = new Gate(InetAddress.getByName(System.getenv("NM_HOST")));
    }
    YarnConfiguration configuration = new YarnConfiguration();
    AMRMClient<ContainerRequest> rm = AMRMClient.createAMRMClient();
    NMClient nm = NMClient.createNMClient();
    rm.init(configuration);
    nm.init(configuration);
    rm.start();
    nm.start();
    rm.registerApplicationMaster("", 0, "");
    String failure = null;
    while (finished < tasks && failure == null) {
      askForReadyStages(rm);
      var answer = rm.allocate(tasks == 0 ? 1f : (float) finished / tasks);
      for (ContainerStatus ended : answer.getCompletedContainersStatuses()) {
        failure = failure == null ? onEnd(rm, ended) : failure;
      }
      for (Container container : answer.getAllocatedContainers()) {
        launch(rm, nm, container);
      }
      for (Stage stage : stages) {
        if (stage.isEarly() && stage.unfinished > 0) {
          look(rm, stage, answer.getAvailableResources());
        }
      }
      if (finished < tasks) {
        Thread.sleep(HEARTBEAT_MS);
      }
    }
    rm.unregisterApplicationMaster(
        failure == null ? FinalApplicationStatus.SUCCEEDED : FinalApplicationStatus.FAILED,
        failure == null ? "" : failure, "");
    nm.stop();
    rm.stop();
    FileSystem.closeAll();
    System.exit(failure == null ? 0 : 1);
  }

  private void readPlan(Path file) throws Exception {
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "script" -> script = LocalResource.newInstance(
            URL.fromURI(new java.net.URI(words[1])), LocalResourceType.FILE, LocalResourceVisibility.APPLICATION,
            Long.parseLong(words[2]), Long.parseLong(words[3]));
        case "stage" -> {
          Stage stage = new Stage(stages.size(), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
          if (!words[3].equals("-")) {
            for (String number : words[3].split(",")) {
              stage.afterNumbers.add(Integer.parseInt(number));
            }
          }
          if (words.length > 4) {
            stage.slowStartPermille = Integer.parseInt(words[4].substring("early=".length()));
          }
          stages.add(stage);
        }
        case "task" -> {
          Stage stage = stages.get(Integer.parseInt(words[1]));
          String[] arguments = line.split(" ", 3)[2].split(" input=");
          Stage.Task task = new Stage.Task(stage, arguments[0]);
          if (arguments.length > 1) {
            task.inputNode = Integer.parseInt(arguments[1].split(":")[0]);
            task.inputBytes = Long.parseLong(arguments[1].split(":")[1]);
          }
          stage.waiting.add(task);
          stage.tasks++;
          stage.unfinished++;
          tasks++;
        }
        case "reads" -> stages.get(Integer.parseInt(words[1])).readsNumbers.put(
            Integer.parseInt(words[2]), Long.parseLong(words[3]));
        case "data" -> data = new Data(Integer.parseInt(words[1]), words[2]);
        default -> throw new IOException("plan.txt: cannot read " + line);
      }
    }
    for (Stage stage : stages) { // which may come after one that stands below it
      stage.afterNumbers.forEach(number -> stage.after.add(stages.get(number)));
      stage.readsNumbers.forEach((number, bytes) -> stage.reads.put(stages.get(number), bytes));
    }
  }

  /** One for each stage tells whose request a container answers. Reduces go before maps, as MapReduce's do. */
  private void setPriorities() {
    for (boolean early : new boolean[] {true, false}) {
      for (Stage stage : stages) {
        if (stage.isEarly() == early) {
          stage.priority = Priority.newInstance(byPriority.size() + 1);
          byPriority.put(stage.priority.getPriority(), stage);
        }
      }
    }
  }

  private void askForReadyStages(AMRMClient<ContainerRequest> rm) {
    for (Stage stage : stages) {
      if (!stage.begun && stage.isReady()) {
        stage.begun = true;
        if (stage.isEarly()) {
          gate.open(stage.number);
        }
        ask(rm, stage, stage.waiting.size() - stage.asked);
      }
    }
  }

  /** Whether more of an early stage are asked for, or some have to give way to maps. */
  private void look(AMRMClient<ContainerRequest> rm, Stage stage, Resource available) {
    boolean isOpen = stage.after.stream().allMatch(Stage::isReady);
    if (stage.begun || !isOpen) {
      return;
    }
    EarlyRule.Look look = stage.look(stages, available);
    long mapsRunning = stage.after.stream().mapToLong(maps -> maps.running).sum();
    long lastEndMs = stage.after.stream().mapToLong(maps -> maps.lastEndMs).max().orElse(Long.MIN_VALUE / 2);
    boolean starving = look.oneAskedMap != null && mapsRunning == 0
        && System.currentTimeMillis() > lastEndMs + NODE_HEARTBEAT_MS;
    if (starving && EarlyRule.givesWay(look)) {
      stage.gaveWay = true;
      takeBack(rm, stage, stage.asked);
      giveBack(rm, stage, EarlyRule.toEnd(look));
    } else if (mapsRunning > 0 || !stage.gaveWay) {
      stage.gaveWay = false;
      int more = EarlyRule.toAsk(look);
      ask(rm, stage, Math.max(more, 0));
      takeBack(rm, stage, Math.max(-more, 0));
    }
  }

  private void ask(AMRMClient<ContainerRequest> rm, Stage stage, int containers) {
    for (int i = 0; i < containers; i++) {
      rm.addContainerRequest(new ContainerRequest(stage.size, null, null, stage.priority));
    }
    stage.asked += containers;
  }

  private void takeBack(AMRMClient<ContainerRequest> rm, Stage stage, int requests) {
    for (int i = 0; i < requests; i++) {
      rm.removeContainerRequest(new ContainerRequest(stage.size, null, null, stage.priority));
    }
    stage.asked -= requests;
  }

  /** Ends the oldest containers of the stage; their tasks are asked for again later. */
  private void giveBack(AMRMClient<ContainerRequest> rm, Stage stage, int containers) {
    List<ContainerId> oldest = running.entrySet().stream()
        .filter(one -> one.getValue().stage == stage).map(Map.Entry::getKey).limit(containers).toList();
    for (ContainerId container : oldest) {
      givenBack.put(container, running.remove(container));
      stage.running--;
      rm.releaseAssignedContainer(container);
    }
  }

  private void launch(AMRMClient<ContainerRequest> rm, NMClient nm, Container container) {
    Stage stage = byPriority.get(container.getPriority().getPriority());
    if (stage.asked == 0) { // more than was asked for, which YARN may give when requests cross on the way
      rm.releaseAssignedContainer(container.getId());
      return;
    }
    takeBack(rm, stage, 1);
    Stage.Task task = data == null ? stage.waiting.poll()
        : stage.take(data.numberOf(container.getNodeId().getHost()), data.nodes());
    running.put(container.getId(), task);
    stage.running++;
    task.attempts++;
    task.host = container.getNodeId().getHost();
    String command = "exec python3 -ISE task.py " + task.arguments + whatItWaitsFor(task) + " 1>><LOG_DIR>/stdout 2>><LOG_DIR>/stderr";
    ContainerLaunchContext context = ContainerLaunchContext.newInstance(
        Collections.singletonMap("task.py", script), Collections.emptyMap(), Collections.singletonList(command),
        null, null, null);
    try {
      nm.startContainer(container, context);
    } catch (YarnException | IOException problem) { // its node is gone or full: the task is tried again elsewhere
      System.err.println("cannot start " + container.getId() + ": " + problem);
      running.remove(container.getId());
      stage.running--;
      rm.releaseAssignedContainer(container.getId());
      again(rm, task);
    }
  }

  /** Early tasks, whose maps still run when they start, fetch nothing: a shuffle of theirs takes its time. */
  private String whatItWaitsFor(Stage.Task task) {
    if (task.stage.isEarly()) {
      return " gate=" + gate.address(task.stage.number);
    }
    String fetched = data == null ? "" : data.fetchedBy(task, task.host);
    return fetched.isEmpty() ? "" : " fetch=" + fetched;
  }

  /** The reason why the job has failed, if now it has. */
  private String onEnd(AMRMClient<ContainerRequest> rm, ContainerStatus ended) {
    Stage.Task gone = givenBack.remove(ended.getContainerId());
    if (gone != null) {
      gone.attempts--; // it did not fail
      gone.stage.waiting.add(gone);
      if (gone.stage.begun) {
        ask(rm, gone.stage, 1);
      }
      return null;
    }
    Stage.Task task = running.remove(ended.getContainerId());
    if (task == null) {
      return null; // released unused
    }
    task.stage.running--;
    task.stage.lastEndMs = System.currentTimeMillis();
    if (ended.getExitStatus() == 0) {
      task.stage.unfinished--;
      task.stage.ranOn.add(task.host);
      finished++;
      return null;
    }
    System.err.println(ended.getContainerId() + " ended with " + ended.getExitStatus() + ": " + ended.getDiagnostics());
    if (task.attempts >= MOST_ATTEMPTS) {
      return "a task failed " + MOST_ATTEMPTS + " times; last: " + ended.getDiagnostics();
    }
    again(rm, task);
    return null;
  }

  private void again(AMRMClient<ContainerRequest> rm, Stage.Task task) {
    task.stage.waiting.add(task);
    if (task.stage.begun) {
      ask(rm, task.stage, 1);
    }
  }
}
