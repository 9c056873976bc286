import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;

/** A stage of the job, and how far it is. */
final class Stage {
  private static final int NOT_EARLY = -1;

  final int number;
  final int[] amounts;
  final Resource size;
  final List<Integer> afterNumbers = new ArrayList<>();
  final List<Stage> after = new ArrayList<>();
  final Map<Integer, Long> readsNumbers = new LinkedHashMap<>();
  final Map<Stage, Long> reads = new LinkedHashMap<>(); // bytes, by the stage that wrote them
  final List<String> ranOn = new ArrayList<>(); // the host of each task that has finished
  final ArrayDeque<Task> waiting = new ArrayDeque<>(); // those with a request and those without
  int slowStartPermille = NOT_EARLY;
  Priority priority;
  int tasks;
  int unfinished;
  int asked; // requests that the ResourceManager has
  int running;
  long lastEndMs = Long.MIN_VALUE / 2;
  boolean begun;
  boolean gaveWay; // and no map has come since

  static final class Task {
    final Stage stage;
    final String arguments;
    int inputNode;
    long inputBytes;
    int attempts;
    String host; // where it was started last

    Task(Stage stage, String arguments) {
      this.stage = stage;
      this.arguments = arguments;
    }
  }

  Stage(int number, int memoryMb, int vcores) {
    this.number = number;
    amounts = new int[] {memoryMb, vcores};
    size = Resource.newInstance(memoryMb, vcores);
  }

  boolean isEarly() {
    return slowStartPermille != NOT_EARLY;
  }

  /** The next task for a node: the first whose input lies there, else the first, as in the simulator. */
  Task take(int node, int nodes) {
    for (Task task : waiting) {
      if (node >= 0 && task.inputBytes > 0 && task.inputNode % nodes == node) {
        waiting.remove(task);
        return task;
      }
    }
    return waiting.poll();
  }

  boolean isReady() {
    return after.stream().allMatch(stage -> stage.unfinished == 0);
  }

  /** What a look finds of this stage, which is early. `available`: the application's headroom. */
  EarlyRule.Look look(List<Stage> all, Resource available) {
    long[] headroom = {available.getMemorySize(), available.getVirtualCores()};
    for (Stage other : all) {
      for (int r = 0; r < 2 && other != this && other.isEarly(); r++) {
        headroom[r] = Math.max(0, headroom[r] - (long) other.asked * other.amounts[r]);
      }
    }
    EarlyRule.Look look = new EarlyRule.Look(amounts, headroom);
    look.slowStartPermille = slowStartPermille;
    look.running = running;
    look.asked = asked;
    look.pending = waiting.size() - asked;
    for (Stage maps : after) {
      look.maps += maps.tasks;
      look.mapsDone += maps.tasks - maps.unfinished;
      look.oneAskedMap = look.oneAskedMap == null && maps.asked > 0 ? maps.amounts : look.oneAskedMap;
      for (int r = 0; r < 2; r++) {
        look.waitingMaps[r] += (long) (maps.unfinished - maps.running) * maps.amounts[r];
        look.runningMaps[r] += (long) maps.running * maps.amounts[r];
        look.askedMaps[r] += (long) maps.asked * maps.amounts[r];
      }
    }
    return look;
  }
}
