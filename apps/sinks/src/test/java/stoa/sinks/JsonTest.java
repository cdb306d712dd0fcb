package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Values of classes in named modules as JSON.
class JsonTest {
  @TempDir private Path folder;

  private Path source(String name, String text) throws Exception {
    Path path = folder.resolve("src").resolve(name);
    Files.createDirectories(path.getParent());
    return Files.writeString(path, text);
  }

  /// Returns the classes of a module that exports one of its two packages.
  private ClassLoader module() throws Exception {
    List<Path> sources =
        List.of(
            source("module-info.java", "module shop { exports shop.open; }"),
            source(
                "shop/open/Item.java",
                "package shop.open; public record Item(String name, int count) {}"),
            source(
                "shop/closed/Item.java",
                "package shop.closed; public record Item(String name, int count) {}"),
            source(
                "shop/open/Items.java",
                """
                package shop.open;
                public final class Items {
                  public static Object open() { return new Item("saw", 3); }
                  public static Object closed() { return new shop.closed.Item("saw", 3); }
                }
                """));
    Path classes = Files.createDirectories(folder.resolve("classes"));
    var arguments = new ArrayList<>(List.of("-d", classes.toString(), "-proc:none"));
    for (Path one : sources) arguments.add(one.toString());
    ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
    assertEquals(0, compiler.run(System.out, System.err, arguments.toArray(String[]::new)));
    Configuration shop =
        ModuleLayer.boot()
            .configuration()
            .resolve(ModuleFinder.of(classes), ModuleFinder.of(), Set.of("shop"));
    return ModuleLayer.boot()
        .defineModulesWithOneLoader(shop, ClassLoader.getSystemClassLoader())
        .findLoader("shop");
  }

  @Test
  void aRecordOfANamedModuleIsReadOrNamesTheRemedy() throws Exception {
    Class<?> items = module().loadClass("shop.open.Items");
    Object open = items.getMethod("open").invoke(null);
    assertEquals("{\"name\":\"saw\",\"count\":3}", Json.text(open));
    Object closed = items.getMethod("closed").invoke(null);
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> Json.text(closed));
    assertEquals(
        "component name of shop.closed.Item cannot be read; open its package to stoa.sinks",
        refused.getMessage());
  }
}
