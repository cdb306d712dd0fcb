package stoa.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.objects.RetentionService;
import stoa.wire.proto.RetainReply;
import stoa.wire.proto.RetainRequest;

/// `stoa keep`: how much of the past a store keeps.
@Command(
    name = "keep",
    description =
        "Shows how much of the past a served store keeps and how large it may be, or changes that.",
    footer = {
      "",
      "The rules given replace all rules before; the quota, disk=, stays unless it is given, and the",
      "others stay when nothing else is given. They are kept in the store, so that other servers",
      "go by them when they lead. What is released cannot be read again.",
      "",
      "  ./stoa keep                                          shows the rules",
      "  ./stoa keep age=30d bank.Account=all                 30 days, and all of accounts",
      "  ./stoa keep versions=100 stoa.Stream=versions=10000  versions; streams apart",
      "  ./stoa keep disk=100GB                               at most 100 GB for each group",
      "  ./stoa keep disk=none                                no quota any more"
    })
final class KeepCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(
      arity = "0..*",
      paramLabel = "RULE",
      description =
          "all, versions=N, age=30d (or h, m, s), or one of these for a type, as"
              + " bank.Account=versions=100; and disk=100GB (or MB, TB, MiB, GiB, TiB, or none), the"
              + " most that each group takes on the disk of the server that leads it.")
  private List<String> rules = new ArrayList<>();

  private KeepCommand() {}

  @Override
  public Integer call() {
    SortedMap<String, List<Integer>> found = rules(operator, rules);
    var out = Objects.requireNonNull(spec).commandLine().getOut();
    found.forEach((text, of) -> {
      if (found.size() > 1) out.println("groups " + of);
      out.println(text);
    });
    out.flush();
    return 0;
  }

  /// Returns the rules of a store, and the groups that have them.
  ///
  /// @param rules replaces all rules before; none to change nothing
  static SortedMap<String, List<Integer>> rules(Operator operator, List<String> rules) {
    if (!rules.isEmpty()) {
      var _ = RetentionService.parse(rules); // refused before any group has them
    }
    int groups = LookSource.Served.of(operator).groups();
    var found = new TreeMap<String, List<Integer>>();
    for (int group = 0; group < groups; group++) {
      var asked = RetainRequest.newBuilder().setGroup(group).addAllRules(rules).build();
      RetainReply reply = operator.ask(group, server -> server.retain(asked));
      if (!reply.getRefusal().isEmpty()) {
        throw new IllegalArgumentException(
            group == 0 || rules.isEmpty()
                ? reply.getRefusal()
                : reply.getRefusal()
                    + "; the groups before "
                    + group
                    + " have the rules already,"
                    + " give them again");
      }
      found
          .computeIfAbsent(String.join("\n", reply.getRulesList()), _ -> new ArrayList<>())
          .add(group);
    }
    return found;
  }
}
