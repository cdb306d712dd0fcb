package stoa.collections;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.front.types.Keys;
import stoa.indexes.HeldForms;
import stoa.indexes.InstalledIndexes;

/// Reads the forms that the objects of a map keep beside its values. Stateless.
final class MapForms implements HeldForms {
  private static final int ENTRIES_AT_ONCE = 1_000;

  MapForms() {}

  @Override
  public boolean isOfMap(String owner) {
    return owner.startsWith(IndexedMap.SINGLE + " ") || owner.startsWith(IndexedMap.SHARDED + " ");
  }

  @Override
  public Map<String, String> read(Stoa stoa, String owner, String index, Snapshot moment) {
    var forms = new HashMap<String, String>();
    int space = owner.indexOf(' ');
    String name = owner.substring(space + 1);
    if (owner.substring(0, space).equals(IndexedMap.SINGLE)) {
      read(moment.on(stoa.get(MapObject.class, name)), index, forms);
      return forms;
    }
    int shards = moment.on(stoa.get(ShardedObject.class, name)).shards();
    for (int child = 0; child < shards; child++) {
      read(moment.on(stoa.get(MapObject.class, new ShardKey(name, child))), index, forms);
    }
    return forms;
  }

  private static void read(MapObject object, String index, Map<String, String> forms) {
    Object from = null;
    do {
      Page page = object.forms(index, from, ENTRIES_AT_ONCE);
      List<Object> items = page.items();
      for (int i = 0; i < items.size(); i += 2) {
        forms.put(InstalledIndexes.text(Keys.encode(items.get(i))), (String) items.get(i + 1));
      }
      from = page.next();
    } while (from != null);
  }
}
