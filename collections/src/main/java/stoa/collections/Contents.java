package stoa.collections;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/// Which elements other collections contain.
final class Contents {
  // Collections whose `contains` compares by `equals`.
  private static final Set<Class<?>> BY_EQUALS =
      Set.of(
          ArrayList.class,
          ArrayDeque.class,
          HashSet.class,
          LinkedHashSet.class,
          LinkedList.class,
          List.of(1).getClass(),
          List.of(1, 2, 3).getClass(),
          Set.of(1).getClass(),
          Set.of(1, 2, 3).getClass());

  private Contents() {}

  /// Returns whether the elements of a collection alone decide what it contains. Otherwise the
  /// collection itself must be asked, because it may compare in a way of its own.
  static boolean decideAlone(Collection<?> others) {
    return BY_EQUALS.contains(Objects.requireNonNull(others, "the collection is null").getClass());
  }
}
