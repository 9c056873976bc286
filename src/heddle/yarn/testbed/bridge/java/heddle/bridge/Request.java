package heddle.bridge;

import java.util.BitSet;

/** A request as a table speaks of it. */
final class Request {
  final Ask ask;
  final Size size; // of one container
  final long key; // of one size the smallest goes first
  final long term; // weighed against fitness, where the form does that
  final long rank; // among equals the smallest goes first
  final boolean ahead; // before all that are not
  final BitSet vetoed; // nodes, by their numbers in the table; null: none
  volatile Object known; // what YARN knows it by: kept here by those who look it up again and again

  Request(Ask ask, Size size, long key, long term, long rank, boolean ahead, BitSet vetoed) {
    this.ask = ask;
    this.size = size;
    this.key = key;
    this.term = term;
    this.rank = rank;
    this.ahead = ahead;
    this.vetoed = vetoed;
  }

  boolean before(Request other) {
    return key != other.key ? key < other.key : rank < other.rank;
  }
}
