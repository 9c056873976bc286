package heddle.bridge;

/** Memory in MB and vcores in thousandths: the integers that levers count in. */
final class Size {
  static final int MILLI = 1000;
  final long memory;
  final long vcores;

  Size(long memory, long vcores) {
    this.memory = memory;
    this.vcores = vcores;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Size && ((Size) other).memory == memory && ((Size) other).vcores == vcores;
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(memory) + Long.hashCode(vcores);
  }
}
