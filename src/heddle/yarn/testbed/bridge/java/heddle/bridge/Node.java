package heddle.bridge;

/** The node that is offered, as it is now. */
final class Node {
  final int number; // in the table; -1: the table does not know it
  final Size free;
  final Size own; // without anybody's changes: what fitness is measured by

  Node(int number, Size free, Size own) {
    this.number = number;
    this.free = free;
    this.own = own;
  }
}
