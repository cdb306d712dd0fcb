package stoa.cli;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;

/// Cancels a call that is under way in a server.
@Command(
    name = "cancel",
    mixinStandardHelpOptions = true,
    description = {
      "Cancels a call that runs or waits in a server: its caller gets an error that says so,",
      "and what the call had changed at its object is taken back."
    })
final class CancelCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private @Nullable ServerLink link;

  @Parameters(paramLabel = "ID", description = "What ./stoa status shows in front of the call.")
  private String id = "";

  private CancelCommand() {}

  @Override
  public Integer call() throws IOException {
    var request = CancelRequest.newBuilder().setId(id).build();
    CancelReply reply = Objects.requireNonNull(link).ask(stub -> stub.cancel(request));
    var line = Objects.requireNonNull(spec).commandLine();
    if (reply.getCancelled()) {
      line.getOut().println("call " + id + " is cancelled");
      return 0;
    }
    line.getErr().println("stoa: " + reply.getWhy());
    return 1;
  }
}
