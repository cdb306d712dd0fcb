package stoa.cli;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import stoa.Unavailable;
import stoa.log.BatchLog;
import stoa.log.Streams;
import stoa.objects.BackupService;
import stoa.objects.BackupService.Taken;
import stoa.storage.Device;
import stoa.storage.Image;
import stoa.storage.disk.AlreadyOpen;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;
import stoa.wire.proto.BackUpReply;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.ReadSegmentReply;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.SegmentPart;

/// The source of a backup: a store that servers have open, or the files of one that no process has
/// open. One owner uses it, and closes it.
interface BackupSource extends AutoCloseable {
  /// Returns how many groups keep the store.
  int groups();

  /// Returns the segments of a group to copy.
  ///
  /// @param address as [BackupService#take]
  /// @throws Unavailable when it is to be asked again
  /// @throws IllegalArgumentException when it cannot be copied
  Taken take(int group, long address);

  /// Reads pieces of a group.
  interface Pieces {
    /// Returns bytes of a segment; see [BackupService#read].
    byte[] read(int segment, long at, int length);
  }

  /// Work with the pieces of a group.
  interface Work<T> {
    /// Does it.
    T with(Pieces pieces);
  }

  /// Does work with the pieces of a group.
  ///
  /// @throws Unavailable when the backup is to begin again
  <T> T copy(int group, Taken taken, Work<T> work);

  @Override
  void close();

  /// A store that servers have open.
  record Served(Operator operator, int groups) implements BackupSource {
    static Served of(Operator operator) {
      return new Served(operator, LookSource.Served.of(operator).groups());
    }

    @Override
    public Taken take(int group, long address) {
      var asked = BackUpRequest.newBuilder().setGroup(group).setAddress(address).build();
      BackUpReply reply = operator.ask(group, server -> server.backUp(asked));
      if (!reply.getRefusal().isEmpty()) throw new Unavailable(reply.getRefusal());
      var parts = new ArrayList<Image.Part>();
      for (SegmentPart part : reply.getSegmentsList()) {
        parts.add(new Image.Part(part.getNumber(), part.getBase(), part.getBytes()));
      }
      return new Taken(
          reply.getOwner(),
          reply.getOrigin(),
          reply.getAddress(),
          reply.getTail(),
          reply.getNowMicros(),
          parts);
    }

    @Override
    public <T> T copy(int group, Taken taken, Work<T> work) {
      return operator.askLong(
          group,
          server ->
              work.with((segment, at, length) -> {
                ReadSegmentReply reply =
                    server.readSegment(
                        ReadSegmentRequest.newBuilder()
                            .setGroup(group)
                            .setOwner(taken.owner())
                            .setSegment(segment)
                            .setAt(at)
                            .setLength(length)
                            .build());
                if (!reply.getRefusal().isEmpty()) throw new Unavailable(reply.getRefusal());
                return reply.getData().toByteArray();
              }));
    }

    @Override
    public void close() {}
  }

  /// The files of a store that no process has open.
  record Stored(Device device) implements BackupSource {
    /// Opens them.
    ///
    /// @throws IllegalArgumentException when a process has them open, or they are not those of a
    ///   lone server, or are damaged
    static Stored of(Path directory) {
      if (Files.exists(directory.resolve(StoreFiles.MEMBER))) {
        throw new IllegalArgumentException(
            directory
                + " is of one of several servers that keep a store; start them, and give --server");
      }
      if (Files.isDirectory(directory.resolve("shard-0"))) {
        throw new IllegalArgumentException(
            directory + " is of a store of several shards; copy the directory");
      }
      if (!hasSegment(directory)) {
        throw new IllegalArgumentException(directory + " holds no store");
      }
      try {
        return new Stored(Device.open(new FileDisk(directory), DeviceConfig.standard()));
      } catch (AlreadyOpen open) {
        throw new IllegalArgumentException(
            open.getMessage() + ". If a server has it, give --server in place of --data", open);
      } catch (StorageException damaged) {
        throw new IllegalArgumentException(
            damaged.getMessage() + "; ./stoa scrub says what is damaged", damaged);
      }
    }

    private static boolean hasSegment(Path directory) {
      String[] names = directory.toFile().list();
      if (names == null) return false;
      for (String name : names) if (name.startsWith("segment-")) return true;
      return false;
    }

    @Override
    public int groups() {
      return 1;
    }

    @Override
    public Taken take(int group, long address) {
      var streams = new Streams(device);
      Image<BatchLog.Tail> image = device.image(streams::tail);
      BatchLog.Tail tail = image.note();
      return new Taken(
          0,
          BackupService.origin(streams),
          tail.counter(),
          tail.counter(),
          tail.nowMicros(),
          image.parts());
    }

    @Override
    public <T> T copy(int group, Taken taken, Work<T> work) {
      return work.with((segment, at, length) -> {
        var bytes = new byte[length];
        device.copy(segment, at, ByteBuffer.wrap(bytes));
        return bytes;
      });
    }

    @Override
    public void close() {
      device.close();
    }
  }
}
