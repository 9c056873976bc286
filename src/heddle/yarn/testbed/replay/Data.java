import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Where data lies that tasks read: on the node that a task names, and on those where earlier tasks ran. */
final class Data {
  private final int port;
  private final String[] hosts;

  /** From the plan: the port at which every node serves, and the nodes' addresses. */
  Data(int port, String hosts) {
    this.port = port;
    this.hosts = hosts.split(",");
  }

  /** The node at this address; -1: none. */
  int numberOf(String host) {
    return Arrays.asList(hosts).indexOf(host);
  }

  /** How many there are. */
  int nodes() {
    return hosts.length;
  }

  /** What a task that runs on this host fetches from others, as task.py wants it told; "": nothing. */
  String fetchedBy(Stage.Task task, String host) {
    Map<String, Long> bytes = new LinkedHashMap<>();
    if (task.inputBytes > 0) {
      bytes.merge(hosts[task.inputNode % hosts.length], task.inputBytes, Long::sum);
    }
    task.stage.reads.forEach((before, all) -> {
      for (String writer : before.ranOn) {
        bytes.merge(writer, all / task.stage.tasks / before.ranOn.size(), Long::sum);
      }
    });
    bytes.remove(host);
    return bytes.entrySet().stream().filter(one -> one.getValue() > 0)
        .map(one -> one.getKey() + ":" + port + ":" + one.getValue()).collect(Collectors.joining(","));
  }
}
