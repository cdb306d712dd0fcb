package stoa.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.http.HttpApi;
import stoa.node.HttpDoor;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.node.access.IdentitySource;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// A server in this process, with an HTTP endpoint and the types of [HttpShop].
record HttpShopServer(Server server, HttpApi api, Monitoring monitoring) implements AutoCloseable {
  static HttpShopServer open() throws IOException {
    return open(IdentitySource.NONE);
  }

  static HttpShopServer open(IdentitySource identities) throws IOException {
    Stoa store =
        EmbeddedEngine.open(
            StoaConfig.of("memory:"), new SimulatedDisk(1), Clock.system(), Threads.real());
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(identities);
    var server = Server.start(config, ObjectService.of(store, _ -> true));
    var api =
        HttpObjects.of(
            new OwnServer("127.0.0.1:" + server.port(), null, server.access()::voucher),
            HttpShopServer.class.getClassLoader(),
            List.of(HttpShop.Account.class.getName(), HttpShop.Catalog.class.getName()),
            Trends.begin(server::measure));
    var monitoring =
        Monitoring.open(
            HttpDoor.Config.plain("127.0.0.1", 0),
            server,
            server::measure,
            Map.of(HttpApi.ROOT, api));
    return new HttpShopServer(server, api, monitoring);
  }

  /// Returns the address of the HTTP endpoint.
  String url() {
    return "http://127.0.0.1:" + monitoring.port();
  }

  @Override
  public void close() {
    api.close();
    monitoring.close();
    server.close();
  }
}
