package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A shared object: one version of a [SharedItem].
///
/// It calls its chunks. Its key says nothing: the item that creates it draws one.
@Shared(name = "stacksync.Version")
public class SharedVersion {
  private final List<SharedChunk> chunks = new ArrayList<>();
  private Optional<ItemVersion> withoutChunks = Optional.empty();

  protected SharedVersion() {}

  /// Returns the version, with its chunks.
  @Accessor
  public ItemVersion version() {
    var found = withoutChunks.orElseThrow(() -> new NotFound("no item has written this version"));
    var contents = chunks.stream().map(SharedChunk::fingerprint).map(Chunk::new).toList();
    return found.with(found.metadata().withChunks(contents));
  }

  /// Writes the version. The item does so once.
  public void write(ItemVersion version) {
    for (var chunk : version.metadata().chunks()) {
      var shared = Call.get(SharedChunk.class, chunk.fingerprint());
      shared.use();
      chunks.add(shared);
    }
    withoutChunks = Optional.of(version.with(version.metadata().withChunks(List.of())));
  }
}
