import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
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
 *
 * The plan (plan.txt, written by plan.py) has one line for each of
 *   script URL SIZE MODIFIED_MS            the file that every container needs
 *   stage MEMORY_MB VCORES AFTER           AFTER: numbers of stages, comma-separated, or "-"
 *   task STAGE ARGUMENTS...                what the script is called with
 */
public class ReplayMaster {
  private static final long HEARTBEAT_MS = 1000;
  private static final int MOST_ATTEMPTS = 4;

  private static final class Stage {
    final Resource size;
    final Priority priority;
    final List<Integer> after = new ArrayList<>();
    final ArrayDeque<Task> waiting = new ArrayDeque<>();
    int unfinished;
    boolean asked;

    Stage(int number, int memoryMb, int vcores) {
      size = Resource.newInstance(memoryMb, vcores);
      // One priority for each stage tells whose request a container answers; earlier stages go first.
      priority = Priority.newInstance(number + 1);
    }
  }

  private static final class Task {
    final Stage stage;
    final String arguments;
    int attempts;

    Task(Stage stage, String arguments) {
      this.stage = stage;
      this.arguments = arguments;
    }
  }

  private final List<Stage> stages = new ArrayList<>();
  private final Map<ContainerId, Task> running = new HashMap<>();
  private LocalResource script;
  private int tasks;
  private int finished;

  public static void main(String[] arguments) throws Exception {
    new ReplayMaster().run();
  }

  private void run() throws Exception {
    readPlan(Path.of("plan.txt"));
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
      String[] words = line.split(" ", 4);
      switch (words[0]) {
        case "script" -> script = LocalResource.newInstance(
            URL.fromURI(new java.net.URI(words[1])), LocalResourceType.FILE, LocalResourceVisibility.APPLICATION,
            Long.parseLong(words[2]), Long.parseLong(words[3]));
        case "stage" -> {
          Stage stage = new Stage(stages.size(), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
          if (!words[3].equals("-")) {
            for (String number : words[3].split(",")) {
              stage.after.add(Integer.parseInt(number));
            }
          }
          stages.add(stage);
        }
        case "task" -> {
          Stage stage = stages.get(Integer.parseInt(words[1]));
          stage.waiting.add(new Task(stage, words[2] + " " + words[3]));
          stage.unfinished++;
          tasks++;
        }
        default -> throw new IOException("plan.txt: cannot read " + line);
      }
    }
  }

  private void askForReadyStages(AMRMClient<ContainerRequest> rm) {
    for (Stage stage : stages) {
      boolean ready = stage.after.stream().allMatch(number -> stages.get(number).unfinished == 0);
      if (!stage.asked && ready) {
        stage.asked = true;
        for (int i = 0; i < stage.waiting.size(); i++) {
          ask(rm, stage);
        }
      }
    }
  }

  private void ask(AMRMClient<ContainerRequest> rm, Stage stage) {
    rm.addContainerRequest(new ContainerRequest(stage.size, null, null, stage.priority));
  }

  private void launch(AMRMClient<ContainerRequest> rm, NMClient nm, Container container) {
    Stage stage = stages.get(container.getPriority().getPriority() - 1);
    Task task = stage.waiting.poll();
    if (task == null) { // more than was asked for, which YARN may give when requests cross on the way
      rm.releaseAssignedContainer(container.getId());
      return;
    }
    rm.removeContainerRequest(new ContainerRequest(stage.size, null, null, stage.priority));
    running.put(container.getId(), task);
    task.attempts++;
    String command = "exec python3 -ISE task.py " + task.arguments + " 1>>" + "<LOG_DIR>/stdout 2>><LOG_DIR>/stderr";
    ContainerLaunchContext context = ContainerLaunchContext.newInstance(
        Collections.singletonMap("task.py", script), Collections.emptyMap(), Collections.singletonList(command),
        null, null, null);
    try {
      nm.startContainer(container, context);
    } catch (YarnException | IOException problem) { // its node is gone or full: the task is tried again elsewhere
      System.err.println("cannot start " + container.getId() + ": " + problem);
      running.remove(container.getId());
      rm.releaseAssignedContainer(container.getId());
      again(rm, task);
    }
  }

  /** The reason why the job has failed, if now it has. */
  private String onEnd(AMRMClient<ContainerRequest> rm, ContainerStatus ended) {
    Task task = running.remove(ended.getContainerId());
    if (task == null) {
      return null; // released unused
    }
    if (ended.getExitStatus() == 0) {
      task.stage.unfinished--;
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

  private void again(AMRMClient<ContainerRequest> rm, Task task) {
    task.stage.waiting.add(task);
    ask(rm, task.stage);
  }
}
