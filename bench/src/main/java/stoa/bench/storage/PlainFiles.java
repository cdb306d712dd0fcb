package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// Plain files, as Trove keeps its objects: a write goes to its place in the object's file, and
/// concurrent writes share a sync. A crash may leave part of a write.
final class PlainFiles implements Contender {
  @Override
  public String name() {
    return "files";
  }

  @Override
  public String how() {
    return "one file, written in place (directly where aligned, from 64 KiB), shared fdatasync";
  }

  @Override
  public Store open(Path folder) throws IOException {
    var file = new DirectFile(folder.resolve("object"));
    var values = new DirectFile(folder.resolve("values"));
    var fileSync = new Group<Integer>(Integer.MAX_VALUE, _ -> file.force());
    var valuesSync = new Group<Integer>(Integer.MAX_VALUE, _ -> values.force());
    return new Store() {
      @Override
      public void write(long offset, ByteBuffer data) throws Exception {
        file.write(offset, data);
        fileSync.join(0);
      }

      @Override
      public void read(long offset, ByteBuffer target) throws IOException {
        file.read(offset, target);
      }

      @Override
      public void put(long key, ByteBuffer value) throws Exception {
        values.write(key * value.remaining(), value);
        valuesSync.join(0);
      }

      @Override
      public void close() throws IOException {
        file.close();
        values.close();
      }
    };
  }
}
