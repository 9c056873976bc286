package heddle.bridge;

/** How requests are weighed against each other: all that there is. A lever that needs another one cannot be here. */
enum Form {
  KEY, // the smallest key
  FIT, // the largest dot product of what is wanted and what is free
  SCALED, // dot product and term, each scaled to 0..ONE over the candidates
  ALIGNED; // that, and the upper bits of the key, scaled and weighted

  static final long ONE = 1 << 20;
  static final long PLANNED = 1L << 40; // no fit is so large
  static final int ALIGNMENT_BITS = 40; // in a key, alignment stands above the rest

  /** Dot product of what is wanted and what is free, both as parts of the node's own size. */
  static long fit(Size wanted, Node node, boolean memoryCounts, boolean vcoresCount) {
    long total = 0;
    if (memoryCounts && node.own.memory > 0) {
      total += product(wanted.memory, node.free.memory, node.own.memory);
    }
    if (vcoresCount && node.own.vcores > 0) {
      total += product(wanted.vcores, node.free.vcores, node.own.vcores);
    }
    return total;
  }

  private static long product(long wanted, long free, long own) {
    return Math.floorDiv(Math.floorDiv(wanted * ONE, own) * Math.floorDiv(free * ONE, own), ONE);
  }

  /** Where a value lies between the least and the most, from 0 to ONE. */
  static long between(long value, long least, long most) {
    return most > least ? Math.floorDiv((value - least) * ONE, most - least) : 0;
  }
}
