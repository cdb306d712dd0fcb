package stoa.trials;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import stoa.cli.ServerProcess.Site;

/// A network on this machine whose parts can be cut off from each other: each site is a network
/// namespace with an address of its own, joined to the others and to this process by a bridge.
/// Owned by one thread; needs root.
final class PartedNetwork implements AutoCloseable {
  /*
   * A site is made deaf for another one by giving it a wrong hardware address there: what it sends goes out and arrives
   * nowhere, in one direction only, and connections learn nothing of it.
   */
  private static final String NOWHERE = "02:00:00:00:00:01";
  private static final String INSIDE = "stoa0";
  private static final int NETS = 250;

  /// Where the operating system has the network namespaces.
  static final Path SPACES = Path.of("/run/netns");

  /// Where it has the network's devices.
  static final Path LINKS = Path.of("/sys/class/net");

  /// How the name of a network namespace begins, followed by the number of its process.
  static final String SPACE = "stoa";

  /// How the name of a bridge begins.
  static final String BRIDGE = "sb";

  /// How the name of the end of a cable begins.
  static final String OUTSIDE = "sv";

  /// The number of the place where clients are: this process.
  static final int CLIENTS = 254;

  private final long id = ProcessHandle.current().pid();
  private final String bridge = BRIDGE + id;
  private final String net = "10.231." + id % NETS + ".";
  private final List<Integer> sites = new ArrayList<>();

  PartedNetwork() throws IOException, InterruptedException {
    Root.run("ip", "link", "add", bridge, "type", "bridge");
    try {
      Root.run("ip", "address", "add", address(CLIENTS) + "/24", "dev", bridge);
      Root.run("ip", "link", "set", bridge, "up");
    } catch (IOException | InterruptedException | RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private String address(int site) {
    return net + site;
  }

  private String namespace(int site) {
    return SPACE + id + "n" + site;
  }

  /// The end of its cable at the bridge.
  private String outside(int site) {
    return OUTSIDE + id + "n" + site;
  }

  /// Makes a site.
  ///
  /// @param number of it, from 1
  Site make(int number) throws IOException, InterruptedException {
    String space = namespace(number);
    String outside = outside(number);
    sites.add(number);
    Root.run("ip", "netns", "add", space);
    Root.run("ip", "link", "add", outside, "type", "veth", "peer", "name", INSIDE, "netns", space);
    Root.run("ip", "link", "set", outside, "master", bridge, "up");
    Root.run("ip", "-n", space, "address", "add", address(number) + "/24", "dev", INSIDE);
    Root.run("ip", "-n", space, "link", "set", "lo", "up");
    Root.run("ip", "-n", space, "link", "set", INSIDE, "up");
    return new Site(address(number), List.of("ip", "netns", "exec", space), List.of());
  }

  /// From now on what one site sends to another one is lost.
  ///
  /// @param to may be [#CLIENTS]
  void cut(int from, int to) throws IOException, InterruptedException {
    neighbour("replace", from, to, "lladdr", NOWHERE, "nud", "permanent");
  }

  /// From now on it arrives again.
  void heal(int from, int to) throws IOException, InterruptedException {
    neighbour("delete", from, to);
  }

  private void neighbour(String verb, int from, int to, String... more)
      throws IOException, InterruptedException {
    var command =
        new ArrayList<>(
            List.of("ip", "-n", namespace(from), "neighbour", verb, address(to), "dev", INSIDE));
    command.addAll(List.of(more));
    Root.run(command.toArray(new String[0]));
  }

  /// What a number that the kernel keeps of a site's network device is by now.
  ///
  /// @param statistic as in `/sys/class/net/DEVICE/statistics`; what the site sends arrives at the
  ///   end of its cable that is here
  long counted(int site, String statistic) throws IOException {
    Path file = LINKS.resolve(outside(site)).resolve("statistics").resolve(statistic);
    return Long.parseLong(Files.readString(file).strip());
  }

  /// Ends the network; who is in it must have ended.
  @Override
  public void close() throws IOException {
    try {
      for (int site : sites) {
        Root.run("ip", "link", "delete", outside(site));
        Root.run("ip", "netns", "delete", namespace(site));
      }
      Root.run("ip", "link", "delete", bridge);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
