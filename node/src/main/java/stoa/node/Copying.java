package stoa.node;

import com.google.protobuf.UnsafeByteOperations;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import stoa.StoaException;
import stoa.objects.BackupService;
import stoa.storage.Image;
import stoa.storage.disk.StorageException;
import stoa.wire.proto.BackUpReply;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.ReadSegmentReply;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.SegmentPart;

/// Answers what backups ask of the groups of a server. Thread-safe; waits for the disk.
final class Copying {
  // The most questions in progress, each with up to a mebibyte.
  private static final int TURNS_MAX = 8;

  private final ServedGroups servedGroups;
  private final Semaphore turns = new Semaphore(TURNS_MAX);

  Copying(ServedGroups servedGroups) {
    this.servedGroups = servedGroups;
  }

  BackUpReply answer(BackUpRequest asked) {
    return answer(
        asked.getGroup(),
        backups -> {
          BackupService.Taken taken = backups.take(asked.getAddress());
          var reply =
              BackUpReply.newBuilder()
                  .setGroups(servedGroups.groups())
                  .setOwner(taken.owner())
                  .setOrigin(taken.origin())
                  .setAddress(taken.address())
                  .setTail(taken.tail())
                  .setNowMicros(taken.nowMicros());
          for (Image.Part part : taken.parts()) {
            reply.addSegments(
                SegmentPart.newBuilder()
                    .setNumber(part.segment())
                    .setBase(part.base())
                    .setBytes(part.bytes()));
          }
          return reply.build();
        },
        refusal -> BackUpReply.newBuilder().setRefusal(refusal).build());
  }

  ReadSegmentReply answer(ReadSegmentRequest asked) {
    return answer(
        asked.getGroup(),
        backups -> {
          byte[] data =
              backups.read(asked.getOwner(), asked.getSegment(), asked.getAt(), asked.getLength());
          return ReadSegmentReply.newBuilder()
              .setData(UnsafeByteOperations.unsafeWrap(data))
              .build();
        },
        refusal -> ReadSegmentReply.newBuilder().setRefusal(refusal).build());
  }

  private <T> T answer(int group, Function<BackupService, T> answer, Function<String, T> refusal) {
    ServedGroup served = servedGroups.led(group);
    if (!turns.tryAcquire()) {
      return refusal.apply("this server answers " + TURNS_MAX + " backups; try again soon");
    }
    try {
      return answer.apply(served.service().backups());
    } catch (StoaException | IllegalArgumentException | StorageException refused) {
      return refusal.apply(CodeRequests.reason(refused));
    } finally {
      turns.release();
    }
  }
}
