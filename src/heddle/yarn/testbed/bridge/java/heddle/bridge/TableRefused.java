package heddle.bridge;

/** A table that cannot be used, and why. */
final class TableRefused extends Exception {
  private static final long serialVersionUID = 1L;

  TableRefused(String why) {
    super(why);
  }
}
