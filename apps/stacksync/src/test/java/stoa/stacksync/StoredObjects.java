package stoa.stacksync;

import java.util.List;
import java.util.UUID;
import stoa.Stoa;
import stoa.stacksync.replay.StoredItem;

/// The service in the design [Design#FACADE_ALONE], in a store in memory.
final class StoredObjects implements ServiceObjects {
  private final Stoa stoa = Stoa.open("memory:");
  private final SyncService service = Services.open(stoa, "", Design.FACADE_ALONE);

  @Override
  public SyncService service() {
    return service;
  }

  @Override
  public List<ItemHistory> items(UUID workspace) {
    return StoredItem.all(stoa).stream()
        .filter(found -> found.workspace().equals(workspace))
        .map(StoredItem::item)
        .toList();
  }

  @Override
  public void close() {
    stoa.close();
  }
}
