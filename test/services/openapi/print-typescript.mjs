import { createRequire, registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

// A program of its own: reads an OpenAPI document, and writes the types that openapi-typescript makes of it.

// openapi-typescript works with the compiler's API of TypeScript 5, which TypeScript 7 does not have: it gets the one of oazapfts.
const typescript = pathToFileURL(createRequire(import.meta.resolve('oazapfts')).resolve('typescript')).href;
registerHooks({
  resolve: (specifier, context, next) => (specifier === 'typescript' ? next(typescript, context) : next(specifier, context)),
});
const { default: ts } = await import(typescript);
const { default: openapiTS, astToString } = await import('openapi-typescript');

/** Callers may hand on what they do not have, also under `exactOptionalPropertyTypes`. */
function admitUndefined(node) {
  const { kind, questionToken, type } = node;
  if (kind !== ts.SyntaxKind.PropertySignature || !questionToken || type.kind === ts.SyntaxKind.NeverKeyword) return node;
  const orUndefined = ts.factory.createUnionTypeNode([type, ts.factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword)]);
  return ts.factory.updatePropertySignature(node, node.modifiers, node.name, questionToken, orUndefined);
}

const changed = ts.transform(
  await openapiTS(JSON.parse(await text(process.stdin)), {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    defaultNonNullable: false,
  }),
  [
    (context) => {
      const visit = (node) => admitUndefined(ts.visitEachChild(node, visit, context));
      return visit;
    },
  ],
);
process.stdout.write(astToString(changed.transformed));
