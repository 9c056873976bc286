package heddle.bridge;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The last containers that leaves with the bridge gave out, in the order of the scheduler's own commits. */
final class Allocations {
  private static final int MOST = 4096;
  private final ArrayDeque<Allocation> given = new ArrayDeque<>();
  private long last;

  static final class Allocation {
    final long number;
    final long atMs;
    final Object container; // YARN's, put into words only when somebody asks
    final Ask ask;
    final Object node;
    final Size size;
    final long table; // its version; 0: stock order

    private Allocation(long number, Object container, Ask ask, Object node, Size size, long table) {
      this.number = number;
      this.atMs = System.currentTimeMillis();
      this.container = container;
      this.ask = ask;
      this.node = node;
      this.size = size;
      this.table = table;
    }
  }

  synchronized void add(Object container, Ask ask, Object node, Size size, long table) {
    if (given.size() == MOST) {
      given.removeFirst();
    }
    given.addLast(new Allocation(++last, container, ask, node, size, table));
  }

  synchronized List<Allocation> after(long number) {
    List<Allocation> found = new ArrayList<>(given);
    found.removeIf(one -> one.number <= number);
    return found;
  }
}
