"""A segment tree over the nodes: the most free of each resource and the best placement score below each inner node.

It answers "which node that fits scores best" without looking at every node: what has no room or cannot
beat the best found so far is skipped whole. Leaves start at index `size`; a lost node has -1 free of everything.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined


@inlined
def set_leaf(tree, node, n, score):
    """Node n changed: its free amounts are total - allocated, or nothing when it is lost. The tree must climb then."""
    i = tree.shape[0] // 2 + n
    for r in range(tree["free"].shape[1]):
        tree["free"][i, r] = node["total"][n, r] - node["allocated"][n, r] if node["alive"][n] else -1
    tree["score"][i] = score


@inlined
def climb(tree, n):
    """Brings what lies above the leaf of node n up to date, until nothing changes any more.

    The node that a placement chooses is the best of many and changes the root; one whose use a report tells is mostly
    not the best of its neighbours. With the leaves of many nodes set before the first climbs, each path is gone once.
    """
    i = tree.shape[0] // 2 + n
    differs = True
    while i > 1 and differs:
        i >>= 1
        left, right = 2 * i, 2 * i + 1
        best = right if tree["score"][right] > tree["score"][left] else left
        differs = tree["score"][i] != tree["score"][best] or tree["node"][i] != tree["node"][best]
        tree["score"][i] = tree["score"][best]
        tree["node"][i] = tree["node"][best]
        for r in range(tree["free"].shape[1]):
            most = max(tree["free"][left, r], tree["free"][right, r])
            differs = differs or tree["free"][i, r] != most
            tree["free"][i, r] = most


@inlined
def climb_score(tree, n):
    """As climb, but of scores alone: what the placement of most tasks asks for."""
    i = tree.shape[0] // 2 + n
    while i > 1:
        left = i & -2
        # Which of two wins cannot be foreseen, so no branch depends on it: a wrong guess costs as much as a level.
        best = left + (tree["score"][left + 1] > tree["score"][left])
        score, node = tree["score"][best], tree["node"][best]
        i >>= 1
        if (tree["score"][i] ^ score) | (tree["node"][i] ^ node) == 0:
            return
        tree["score"][i] = score
        tree["node"][i] = node


@inlined
def climb_free(tree, n):
    i = tree.shape[0] // 2 + n
    differs = True
    while i > 1 and differs:
        other = i ^ 1
        differs = False
        above = i >> 1
        for r in range(tree["free"].shape[1]):
            most = max(tree["free"][i, r], tree["free"][other, r])
            differs = differs or tree["free"][above, r] != most
            tree["free"][above, r] = most
        i = above


@compiled
def leftmost_fit(tree, node, counts, demand, shape, label, first):
    """The node with the smallest number >= first that has the label (-1: any) and room for the shape; -1: none."""
    n_resources = tree["free"].shape[1]
    size = tree.shape[0] // 2
    n_nodes = node.shape[0]
    i = size + first
    if first >= n_nodes:
        return -1
    while True:
        fits = True
        for r in range(n_resources):
            if counts[0, r] and tree["free"][i, r] < demand[shape, r]:
                fits = False
        if fits:
            if i >= size:
                n = i - size
                if n >= n_nodes:
                    return -1
                if node["alive"][n] and (label < 0 or node["label"][n] == label):
                    return n
                fits = False
            else:
                i = 2 * i
                continue
        # Nothing below i: on to the next subtree to the right.
        while i & 1:
            i >>= 1
        if i == 0:
            return -1
        i += 1
