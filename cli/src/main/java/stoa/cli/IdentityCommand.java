package stoa.cli;

import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.node.access.Identities;
import stoa.node.access.Proof;

/// `stoa identity`: a new token, and the lines about it for a file of identities.
@Command(
    name = "identity",
    description =
        "Makes a new token, and prints it with the lines for the server's file of --identities. The"
            + " lines have its hash alone: keep the token, which cannot be found again.",
    footer = {
      "",
      "The first line is a comment with the token; give that to the client, and leave",
      "it out of the file:",
      "",
      "    ./stoa identity shop --may call,create --on shop.* | tee /dev/stderr |",
      "        grep -v '^# token' >> identities"
    })
final class IdentityCommand implements Callable<Integer> {
  private static final int TOKEN_BYTES = 32;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "NAME", description = "The name of the identity.")
  private String name = "";

  @Option(
      names = "--may",
      paramLabel = "ROLES",
      description =
          "Its roles, joined by commas: read, call, create, deploy, operate, member. Default: no line"
              + " about roles, for a further token of a known identity")
  private @Nullable String roles;

  @Option(
      names = "--on",
      paramLabel = "TYPES",
      description =
          "The types of objects for which it has the roles, joined by commas; bank.* stands for"
              + " several. Default: all")
  private @Nullable String types;

  @Option(
      names = "--until",
      paramLabel = "DATE",
      description = "The last day of the token in UTC, as 2027-01-31. Default: it has no end")
  private @Nullable String until;

  private IdentityCommand() {}

  @Override
  public Integer call() {
    byte[] random = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(random);
    String token = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    if (types != null && roles == null) {
      throw new IllegalArgumentException("--on limits the roles of --may; give both");
    }
    String end = until == null ? "" : " until " + until;
    String proof = name + " token " + Proof.token(token).hash() + end;
    String on = types == null ? "" : " on " + types;
    String may = roles == null ? "" : name + " may " + roles + on + "\n";
    // Refuses what the server would refuse.
    String all = proof + "\n" + (roles == null ? name + " may read\n" : may);
    var _ = Identities.parse(all, "the line of " + name);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println("# token of " + name + ": " + token);
    out.println(proof);
    out.print(may);
    out.flush();
    return 0;
  }
}
