package stoa.trials;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import stoa.cli.ServerProcess.Site;

/// A network on this machine that can be partitioned: each site is a network namespace with an
/// address of its own, joined to the others and to this process by a bridge. Owned by one thread;
/// needs root.
final class PartedNetwork implements AutoCloseable {
  /*
   * A site is made deaf for another one with a wrong hardware address there: its frames leave and
   * arrive nowhere, in one direction only, and connections learn nothing of it.
   */
  private static final String NOWHERE = "02:00:00:00:00:01";
  private static final String INSIDE = "stoa0";
  private static final int NETS = 250;

  /// The operating system's directory of network namespaces.
  static final Path SPACES = Path.of("/run/netns");

  /// The operating system's directory of network devices.
  static final Path LINKS = Path.of("/sys/class/net");

  /// The prefix of the name of a network namespace, followed by the number of its process.
  static final String SPACE = "stoa";

  /// The prefix of the name of a bridge.
  static final String BRIDGE = "sb";

  /// The prefix of the name of the end of a cable.
  static final String OUTSIDE = "sv";

  /// The number of the place of the clients: this process.
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

  /// Returns the end of its cable at the bridge.
  private String outside(int site) {
    return OUTSIDE + id + "n" + site;
  }

  /// Creates a site.
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

  /// Loses all packets from one site to another from now on.
  ///
  /// @param to may be [#CLIENTS]
  void cut(int from, int to) throws IOException, InterruptedException {
    neighbour("replace", from, to, "lladdr", NOWHERE, "nud", "permanent");
  }

  /// Ends the losses.
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

  /// Returns a counter of the kernel for a site's network device.
  ///
  /// @param statistic as in `/sys/class/net/DEVICE/statistics`; the packets that the site sends
  ///   arrive at the end of its cable that is here
  long counted(int site, String statistic) throws IOException {
    Path file = LINKS.resolve(outside(site)).resolve("statistics").resolve(statistic);
    return Long.parseLong(Files.readString(file).strip());
  }

  /// Removes the network; the processes in it must have ended.
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
