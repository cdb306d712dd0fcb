package stoa.node;

import com.google.protobuf.ByteString;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.Ref;
import stoa.StoaException;
import stoa.TooOld;
import stoa.base.Encoder;
import stoa.base.Texts;
import stoa.base.ThrowableText;
import stoa.front.types.Keys;
import stoa.objects.ObjectService;
import stoa.wire.proto.Failure;

/// The form in which failures travel to a client. `docs/wire.md` lists the kinds.
final class FailureForm {
  private FailureForm() {}

  static Failure of(Throwable thrown, ObjectService service) {
    boolean travelled = thrown instanceof Aborted known && !isWhole(known);
    String kind = travelled ? "CallFailed" : thrown.getClass().getSimpleName();
    var failure = Failure.newBuilder().setKind(kind);
    String message = ThrowableText.message(thrown);
    if (message != null) failure.setMessage(Texts.message(message));
    if (thrown instanceof Aborted aborted && !travelled) {
      failure.setThrowable(ByteString.copyFrom(aborted(aborted)));
    } else if (!isPlain(thrown)) {
      failure.setThrowable(ByteString.copyFrom(service.throwable(thrown)));
    }
    return failure.build();
  }

  /// Returns whether it has the changed object. One that has travelled does not, since its fields
  /// are transient; it travels as a throwable.
  private static boolean isWhole(Aborted aborted) {
    return aborted.object() != null;
  }

  /// Returns whether kind and message suffice.
  private static boolean isPlain(Throwable thrown) {
    return ThrowableText.cause(thrown) == null
        && !(thrown instanceof TooOld)
        && !(thrown instanceof Aborted)
        && (thrown instanceof StoaException
            || thrown.getClass().getName().startsWith("java.lang."));
  }

  private static byte[] aborted(Aborted aborted) {
    Ref<?> ref = aborted.object();
    var out = new Encoder(64).text(ref.type()).sized(Keys.encode(ref.key()));
    address(out, aborted.readAt());
    address(out, aborted.changedAt());
    out.varint(aborted.readVersion()).varint(aborted.changedVersion());
    return out.toBytes();
  }

  private static void address(Encoder out, LogAddress address) {
    out.varint(address.epoch()).varint(address.counter());
  }
}
