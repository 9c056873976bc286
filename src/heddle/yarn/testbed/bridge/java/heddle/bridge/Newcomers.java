package heddle.bridge;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests that have come since the last table, in their order, for those who wait to hear of them. It keeps none of them
 * alive, and no more than MOST: without a process outside nobody ever takes them away.
 */
final class Newcomers {
  static final int MOST = 20_000;
  private final ArrayDeque<Newcomer> waiting = new ArrayDeque<>();
  private long last; // number of the newest
  private long dropped; // number of the newest of those that there was no room for

  static final class Newcomer {
    final long number;
    final long cameAtNs = System.nanoTime();
    private final WeakReference<Asking> asking;

    private Newcomer(long number, Asking asking) {
      this.number = number;
      this.asking = new WeakReference<>(asking);
    }

    /** Null: nobody knows it any more. */
    Asking asking() {
      return asking.get();
    }
  }

  synchronized void add(Asking asking) {
    if (waiting.size() == MOST) {
      dropped = waiting.removeFirst().number;
    }
    waiting.addLast(new Newcomer(++last, asking));
    notifyAll();
  }

  /** Those that came after this number; waits so long for the first one. */
  synchronized List<Newcomer> after(long number, long waitMs) throws InterruptedException {
    long until = System.nanoTime() + waitMs * 1_000_000;
    for (long left = waitMs; last <= number && left > 0; left = (until - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
    return after(number);
  }

  /** Takes away those that a table names, noting how long that took, and those that wait no more. */
  void settle(Table table, Latest namedAfterUs) {
    List<Newcomer> settled = new ArrayList<>();
    for (Newcomer one : after(0)) {
      Asking asking = one.asking();
      boolean named = asking != null && table.request(asking.ask()) != null;
      if (named) {
        namedAfterUs.add((System.nanoTime() - one.cameAtNs) / 1000);
      }
      if (named || asking == null || asking.containers() == 0) {
        settled.add(one);
      }
    }
    synchronized (this) {
      waiting.removeAll(new java.util.HashSet<>(settled));
    }
  }

  synchronized List<Newcomer> after(long number) {
    List<Newcomer> found = new ArrayList<>(waiting);
    found.removeIf(one -> one.number <= number);
    return found;
  }

  synchronized int size() {
    return waiting.size();
  }

  synchronized long last() {
    return last;
  }

  synchronized boolean missed(long number) {
    return dropped > number;
  }
}
