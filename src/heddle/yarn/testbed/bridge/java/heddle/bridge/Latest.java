package heddle.bridge;

import java.util.ArrayDeque;

/** The last so many values, the oldest first. */
final class Latest {
  private static final int MOST = 256;
  private final ArrayDeque<Long> values = new ArrayDeque<>();

  synchronized void add(long value) {
    if (values.size() == MOST) {
      values.removeFirst();
    }
    values.addLast(value);
  }

  @Override
  public synchronized String toString() {
    return values.toString();
  }
}
