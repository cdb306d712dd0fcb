package stoa.cli;

import com.google.gson.JsonObject;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import stoa.front.ClassNames;
import stoa.front.types.KeyText;
import stoa.http.CodeSource;
import stoa.http.HttpApi;
import stoa.http.Pasts;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.VersionStatus;

/// The objects of a server over HTTP, with the answers of the operators' commands beside them.
final class HttpObjects {
  private static final ShownBounds LITTLE =
      ShownBounds.newBuilder().setElementsMax(1).setTextMax(16).build();

  private HttpObjects() {}

  /// Creates the interface.
  ///
  /// @param loader has the classes of the server
  /// @param names the shared classes among them
  /// @param trends the measures of the server; it is closed together with the interface
  static HttpApi of(OwnServer own, ClassLoader loader, Collection<String> names, Trends trends) {
    Operator itself = own.operator(null);
    var api =
        new HttpApi(
            new Served(itself),
            loader,
            names,
            own::open,
            caller -> new ServedPasts(own.operator(caller)));
    api.closing(trends::close);
    LookRoutes.add(api, own::operator, new Overview(itself), trends);
    return api;
  }

  private record ServedPasts(Operator operator) implements Pasts {
    @Override
    public long version(String type, String key, String at) {
      try (LookSource source = LookSource.Served.of(operator)) {
        return ShowCommand.state(source, type, KeyText.encoded(key), at, LITTLE).getVersion();
      }
    }

    @Override
    public List<JsonObject> entries(String type, String key, long from, long to) {
      int max = (int) (to - from + 1);
      var some = new HistoryCommand.Some(from, to, max, false, ShownBounds.getDefaultInstance());
      try (LookSource source = LookSource.Served.of(operator)) {
        LookReply reply = HistoryCommand.entries(source, type, KeyText.encoded(key), some);
        return reply.getEntriesList().stream().map(HistoryCommand::json).toList();
      }
    }
  }

  private record Served(Operator operator) implements CodeSource {
    @Override
    public SortedMap<String, String> active() {
      var active = new TreeMap<String, String>();
      for (List<VersionStatus> group : new ServedCode(operator).versions()) {
        for (VersionStatus one : group) {
          boolean isHandler = one.getType().startsWith(ClassNames.HANDLER);
          if (one.getActive() && !isHandler) active.put(one.getType(), one.getVersion());
        }
      }
      return active;
    }

    @Override
    public SortedMap<String, byte[]> files(String type, String version) {
      var code = new ServedCode(operator);
      List<List<VersionStatus>> versions = code.versions();
      for (int group = 0; group < versions.size(); group++) {
        for (VersionStatus one : versions.get(group)) {
          if (one.getType().equals(type) && one.getVersion().equals(version)) {
            return code.files(group, type, version);
          }
        }
      }
      throw new IllegalArgumentException("no group has the version " + version + " of " + type);
    }
  }
}
