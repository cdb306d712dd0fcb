package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class ServeSettingsTest {
  @TempDir Path folder;

  private final CommandSpec serve = new CommandLine(ServeCommand.class).getCommandSpec();
  private final CommandSpec status = new CommandLine(StatusCommand.class).getCommandSpec();

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("stoa.properties"), text);
  }

  private List<String> served(Map<String, String> environment, String... given) {
    return List.of(ServeSettings.expand(serve, "serve", List.of(given), environment));
  }

  @Test
  void anOptionGoesBeforeItsVariableAndTheVariableBeforeTheFile() throws IOException {
    Path file = file("data = a\nlisten=127.0.0.1:1\nhttp=1\n# a comment\ngroups=2\n");
    assertEquals(
        List.of("--data=a", "--http=2", "--groups=2", "--config", file.toString(), "--listen=x:3"),
        served(
            Map.of("STOA_HTTP", "2", "STOA_LISTEN", "127.0.0.1:2"),
            "--config",
            file.toString(),
            "--listen=x:3"));
  }

  @Test
  void aVariableNamesTheFile() throws IOException {
    String file = file("data=b").toString();
    assertEquals(List.of("--data=b", "--config=" + file), served(Map.of("STOA_CONFIG", file)));
  }

  @Test
  void theSecretHasOneVariableAndAnEmptyVariableIsNone() {
    assertEquals(List.of("--secret=f"), served(Map.of("STOA_SECRET_FILE", "f", "STOA_LISTEN", "")));
  }

  @Test
  void aFlagIsTrueOrFalse() throws IOException {
    String file = file("replicated=true\ninsecure=false").toString();
    assertEquals(List.of("--replicated", "--config=" + file), served(Map.of(), "--config=" + file));
    assertEquals(List.of("--client-classes"), served(Map.of("STOA_CLIENT_CLASSES", "true")));
    var wrong =
        assertThrows(
            IllegalArgumentException.class, () -> served(Map.of("STOA_REPLICATED", "yes")));
    assertEquals("replicated in STOA_REPLICATED is true or false, not yes", wrong.getMessage());
  }

  @Test
  void refusesAnUnknownSettingAndAFileThatIsNotThere() throws IOException {
    String file = file("data=a\nlisten_on=x").toString();
    assertEquals(
        file + " has listen_on, which is no setting; ./stoa config lists all",
        assertThrows(IllegalArgumentException.class, () -> served(Map.of(), "--config", file))
            .getMessage());
    String absent = folder.resolve("absent").toString();
    var thrown =
        assertThrows(IllegalArgumentException.class, () -> served(Map.of(), "--config", absent));
    assertTrue(String.valueOf(thrown.getMessage()).contains(absent), thrown::toString);
  }

  @Test
  void otherCommandsHaveTheVariablesOfTheirConnection() {
    var environment = Map.of("STOA_SERVER", "h:1", "STOA_TOKEN_FILE", "t", "STOA_GROUPS", "2");
    assertEquals(
        List.of("--server=h:1", "--token-file=t", "--json"),
        List.of(ServeSettings.expand(status, "status", List.of("--json"), environment)));
    assertEquals(
        List.of("--token-file=t", "--server", "i:2"),
        List.of(ServeSettings.expand(status, "status", List.of("--server", "i:2"), environment)));
    assertEquals(
        List.of("--data", "d"),
        List.of(ServeSettings.expand(status, "status", List.of("--data", "d"), environment)));
  }

  @Test
  void theListOfAllSettingsIsItselfAFileOfSettings() throws IOException {
    String schema = config(0);
    var options = ServeSettings.options(serve);
    for (var option : options) {
      assertTrue(schema.contains("\n#" + ServeSettings.name(option) + "="), option.longestName());
      assertTrue(
          schema.contains("# Variable: " + ServeSettings.variable(ServeSettings.name(option))));
    }
    String listen = schema.replace("\n#listen=", "\nlisten=").replace("\n#data=DIR", "\ndata=d");
    assertEquals(
        List.of("data=d", "listen=127.0.0.1:7400"),
        config(0, file(listen).toString())
            .lines()
            .map(line -> line.replaceAll("  # .*", ""))
            .toList());
  }

  @Test
  void aFileIsCheckedBeforeAServerReadsIt() throws IOException {
    assertTrue(config(1, file("data=d\ngroups=many").toString()).contains("many"));
    assertTrue(config(1, file("data=d\nuser=me").toString()).contains("user, which is no setting"));
  }

  private static String config(int exitCode, String... arguments) {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    var all = new String[arguments.length + 1];
    all[0] = "config";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    assertEquals(exitCode, Main.run(out, out, all), said::toString);
    return said.toString();
  }
}
