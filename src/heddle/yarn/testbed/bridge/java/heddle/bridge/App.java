package heddle.bridge;

/** An application by the two numbers of its id. */
final class App {
  private static final String PREFIX = "application_";
  final long cluster;
  final int number;

  App(long cluster, int number) {
    this.cluster = cluster;
    this.number = number;
  }

  /** From application_1700000000000_0042. */
  static App of(String id) {
    int dash = id.lastIndexOf('_');
    if (!id.startsWith(PREFIX) || dash <= PREFIX.length()) {
      throw new NumberFormatException("not an application: " + id);
    }
    return new App(Long.parseLong(id.substring(PREFIX.length(), dash)), Integer.parseInt(id.substring(dash + 1)));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof App && ((App) other).number == number && ((App) other).cluster == cluster;
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(cluster) + number;
  }

  @Override
  public String toString() {
    return String.format("%s%d_%04d", PREFIX, cluster, number);
  }
}
