package stoa.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import stoa.TxOptions;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.SharedType;

/// Compares the indexes of a class with its objects. Stateless.
final class IndexCheck {
  private IndexCheck() {}

  /// Returns the differences, a line each, while no call changes the objects; none when the indexes
  /// are right.
  static List<String> differences(SharedStoa stoa, Class<?> type) {
    SharedType shared = SharedType.of(type);
    var objects = new ArrayList<String>();
    stoa.service().names(type).forEachRemaining(name -> objects.add(InstalledIndexes.text(name)));
    var found = new ArrayList<String>();
    for (IndexedMember member : shared.indexes()) {
      var plan =
          new Plan(
              shared.name(),
              member.id(),
              List.of(Span.ALL),
              Test.TRUE,
              member.name(),
              Plan.Window.ALL,
              Plan.Result.ROWS);
      List<String> rows =
          stoa.transact(TxOptions.reading(), () -> counted(stoa, shared.name(), member));
      var expected = new TreeSet<String>();
      for (Map.Entry<String, String> one : values(stoa, plan, objects).entrySet()) {
        expected.add(one.getValue() + "\0" + one.getKey());
      }
      for (int i = 0; i < rows.size(); i += 2) {
        String row = rows.get(i) + "\0" + rows.get(i + 1);
        if (!expected.remove(row)) {
          found.add("the " + member.id() + " has, and the object has not: " + row);
        }
      }
      for (String row : expected) {
        found.add("the " + member.id() + " lacks what an object has: " + row);
      }
    }
    return found;
  }

  private static List<String> counted(SharedStoa stoa, String type, IndexedMember member) {
    var rows = new ArrayList<String>();
    for (int i = 0; i < InstalledIndexes.PARTS; i++) {
      IndexPart part = InstalledIndexes.part(stoa, type, member.id(), i);
      rows.addAll(part.range(null, null, 1, null, null, Integer.MAX_VALUE));
    }
    return rows;
  }

  /// Returns the values of objects, by objects, from the agents of their groups.
  private static Map<String, String> values(SharedStoa stoa, Plan plan, List<String> objects) {
    var groups = new HashMap<Integer, List<String>>();
    for (String object : objects) {
      byte[] name = InstalledIndexes.key(object);
      int group = stoa.service().group(new stoa.base.Key(plan.type(), name, plan.type()));
      List<String> of = groups.computeIfAbsent(group, _ -> new ArrayList<>());
      of.add("");
      of.add(object);
    }
    var values = new HashMap<String, String>();
    groups.forEach((group, of) -> {
      List<String> rows = InstalledIndexes.agent(stoa, group).judge(plan.written(), of);
      for (int i = 0; i < rows.size(); i += 2) values.put(rows.get(i + 1), rows.get(i));
    });
    return values;
  }
}
