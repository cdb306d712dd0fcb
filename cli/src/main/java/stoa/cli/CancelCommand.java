package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;

/// `stoa cancel`: takes back a call that runs or waits.
@Command(name = "cancel", description = "Takes back a call; ./stoa status lists the calls.")
final class CancelCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(paramLabel = "CALL", description = "The number of the call.")
  private String call = "";

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The group of its object, in a store of several groups. Default: 0")
  private int group;

  private CancelCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    CancelReply reply =
        operator.ask(
            group,
            server ->
                server.cancel(CancelRequest.newBuilder().setId(call).setGroup(group).build()));
    if (reply.getCancelled()) {
      commandLine.getOut().println("call " + call + " is taken back");
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getWhy());
    return 1;
  }
}
