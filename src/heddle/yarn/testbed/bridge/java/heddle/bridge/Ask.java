package heddle.bridge;

/** What tells requests apart: all containers that an application asks for at one priority and allocation id. */
final class Ask {
  final App app;
  final int priority;
  final long allocation;

  Ask(App app, int priority, long allocation) {
    this.app = app;
    this.priority = priority;
    this.allocation = allocation;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Ask && ((Ask) other).priority == priority && ((Ask) other).allocation == allocation
        && ((Ask) other).app.equals(app);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * app.hashCode() + priority) + Long.hashCode(allocation);
  }

  @Override
  public String toString() {
    return app + " " + priority + " " + allocation;
  }
}
