package heddle.bridge;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the process outside wants, and for how long. It does not change, but for what it keeps account of: containers of
 * a plan that were given out, and how far its requests are served.
 */
final class Table {
  final long version;
  final long leaseMs;
  final long holdMs; // so long a request that the table does not name waits for one that does
  final long patienceMs; // a veto does not count for a request that was given nothing for so long
  final Form form;
  final boolean fitness; // false: fits are 0
  final long alignmentMilli;
  final boolean memoryCounts;
  final boolean vcoresCount;
  final boolean reserves; // when nothing fits, the first in stock order may reserve the node, as in stock YARN
  final boolean stepOverVetoed; // false: one that is vetoed stops those of its size behind it
  final int bytes;
  private final Map<String, List<Group>> groups; // by leaf
  final Map<Size, Long> leastTerms; // of all leaves; like every term as old as the table
  private final Map<Ask, Request> requests;
  private final Map<App, Integer> apps;
  private final Map<String, Integer> nodes;
  private final List<Size> sizes; // of nodes
  private final Map<Size, AtomicInteger>[] plans; // of nodes

  Table(TableReader read) {
    version = read.version;
    leaseMs = read.leaseMs;
    holdMs = read.holdMs;
    patienceMs = read.patienceMs;
    form = read.form;
    fitness = read.fitness;
    alignmentMilli = read.alignmentMilli;
    memoryCounts = read.memoryCounts;
    vcoresCount = read.vcoresCount;
    reserves = read.reserves;
    stepOverVetoed = read.stepOverVetoed;
    bytes = read.bytes;
    groups = read.groups();
    leastTerms = read.leastTerms();
    requests = read.requests;
    apps = read.apps();
    nodes = read.nodes;
    sizes = read.nodeSizes;
    plans = read.plans();
  }

  /** Of a leaf, by its full name. */
  List<Group> groups(String leaf) {
    return groups.getOrDefault(leaf, Collections.emptyList());
  }

  boolean speaksOf(String leaf) {
    return groups.containsKey(leaf);
  }

  Request request(Ask ask) {
    return requests.get(ask);
  }

  int requests() {
    return requests.size();
  }

  boolean names(App app) {
    return apps.containsKey(app);
  }

  /** The node of this name as it is now; one that the table does not know is measured by what it has now. */
  Node node(String name, Size free, Size total) {
    Integer number = nodes.get(name);
    return number == null ? new Node(-1, free, total) : new Node(number, free, sizes.get(number));
  }

  boolean vetoes(Request request, Node node, Host host) {
    return request.vetoed != null && node.number >= 0 && request.vetoed.get(node.number)
        && host.unservedMs(request) < patienceMs;
  }

  boolean isPlanned(Node node, Size size) {
    AtomicInteger left = planned(node, size);
    return left != null && left.get() > 0;
  }

  /** A container was given out that may be one of the plan. */
  void gave(String node, Size size) {
    Integer number = nodes.get(node);
    AtomicInteger left = number == null || plans[number] == null ? null : plans[number].get(size);
    if (left != null) {
      left.decrementAndGet();
    }
  }

  private AtomicInteger planned(Node node, Size size) {
    return node.number < 0 || plans[node.number] == null ? null : plans[node.number].get(size);
  }
}
