// zod takes a few milliseconds to build the schemas of all modules that a command loads, and the command uses few of them. This
// plugin for Babel builds a schema when it is first used: each constant of a module that needs zod becomes a function.
import { types } from '@babel/core';

/**
 * @param {{ template: typeof import('@babel/core').template }} babel
 * @param {{ zod: Set<string> }} options names of the chunks that have zod. Building a schema changes nothing, so it can wait
 * @returns a plugin for a chunk that is still an ES module
 */
export function lazySchemas({ template }, { zod }) {
  const once = template.statements(`var VALUE; function NAME() { return VALUE ??= INIT; }`);
  const givenOut = template.statement(
    `Object.defineProperty(exports, EXPORTED, { enumerable: true, get: NAME });`,
  );
  const makeLazy = (declarator) => {
    const { id, init } = declarator.node;
    const { scope } = declarator;
    const { referencePaths } = scope.getBinding(id.name);
    const statement = declarator.getStatementParent();
    for (const path of referencePaths) if (path.isIdentifier()) call(path);
    for (const exported of exportsOf(scope.path, id.name)) {
      statement.insertAfter(givenOut({ EXPORTED: types.stringLiteral(exported), NAME: id.name }));
    }
    statement.insertBefore(once({ VALUE: scope.generateUid(id.name), NAME: id.name, INIT: init }));
    declarator.remove();
  };
  return {
    visitor: {
      Program(program) {
        const lazy = new Set();
        const declarators = program
          .get('body')
          .flatMap((each) => (each.isVariableDeclaration() ? each.get('declarations') : []));
        for (const each of declarators) if (isSchema(each, zod, lazy)) lazy.add(each.node.id.name);
        for (const each of declarators) if (lazy.has(each.node.id.name)) makeLazy(each);
        program.scope.crawl();
      },
    },
  };
}

/** Whether a constant is built with zod, or from another one that is. */
function isSchema(declarator, zod, lazy) {
  const { id, init } = declarator.node;
  if (!types.isIdentifier(id) || !init || !declarator.scope.getBinding(id.name)?.constant) return false;
  let uses = false;
  const look = (path) => {
    const { name } = path.node;
    const from = path.scope.getBinding(name)?.path.parent;
    if (!path.isReferencedIdentifier()) return;
    uses ||=
      lazy.has(name) || (types.isImportDeclaration(from) && zod.has(from.source.value.split('/').at(-1)));
  };
  const at = declarator.get('init');
  if (at.isIdentifier()) look(at);
  // What is in a function runs later in any case.
  at.isFunction() || at.traverse({ Function: (path) => path.skip(), Identifier: look });
  return uses;
}

function call(path) {
  if (path.parentPath.isObjectProperty({ shorthand: true })) path.parent.shorthand = false;
  if (path.parentPath.isExportSpecifier()) return;
  path.replaceWith(types.callExpression(types.identifier(path.node.name), []));
  path.skip();
}

/** Takes a name out of the exports of a chunk. @returns the names under which it was exported */
function exportsOf(program, name) {
  return program
    .get('body')
    .filter((each) => each.isExportNamedDeclaration())
    .flatMap((each) => each.get('specifiers'))
    .filter(({ node }) => node.local.name === name)
    .map((specifier) => {
      const { name: exported } = specifier.node.exported;
      specifier.remove();
      return exported;
    });
}
