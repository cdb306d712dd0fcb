package stoa.listening;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.LimitExceeded;
import stoa.Listeners;
import stoa.Shared;

/// Keeps the objects of one group that have a tag.
@Shared(name = TagObject.NAME)
class TagObject {
  static final String NAME = "stoa.Tag";

  private final TreeSet<String> objects = new TreeSet<>();

  protected TagObject() {}

  void add(String object) {
    if (objects.size() >= Listeners.TAGGED_MAX && !objects.contains(object)) {
      throw new LimitExceeded(
          "this group of the store has "
              + Listeners.TAGGED_MAX
              + " objects with the tag, the most that it keeps; listen to their type instead");
    }
    objects.add(object);
  }

  boolean remove(String object) {
    return objects.remove(object);
  }

  @Accessor
  List<String> all() {
    return new ArrayList<>(objects);
  }
}
