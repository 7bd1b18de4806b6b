import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { excerptOf, placeOf } from '#shared/config/source-code.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = await useFolder();
const file = join(folder, 'agent.ts');
writeFileSync(file, ['first();', 'second();', "throw new Error('no');", 'fourth();'].join('\n'));

test('a stack shows the code around its first line in a file of the author', () => {
  const stack = `Error: no\n    at run (file://${folder}/node_modules/lib/index.js:1:1)\n    at run (file://${file}:3:7)`;
  expect(excerptOf(stack)).toBe(
    [`${file}:3`, '  1 | first();', '  2 | second();', "> 3 | throw new Error('no');", '  4 | fourth();'].join('\n'),
  );
});

test('a stack without such a line, of a file that is gone, or of a line that it no longer has shows none', () => {
  expect(excerptOf('Error: no\n    at node:internal/timers:1:2')).toBeNull();
  expect(excerptOf(`Error: no\n    at run (file://${folder}/gone.ts:1:1)`)).toBeNull();
  expect(excerptOf(`Error: no\n    at run (file://${file}:9:1)`)).toBeNull();
});

test('a setting is found at the line that writes it, below the line of what contains it', () => {
  const config = join(folder, 'muster.config.ts');
  writeFileSync(
    config,
    ['export default {', '  limits: { a: 1 },', '  agents: {', "    'my-agent': {", "      kind: 'x',", '    },', '  },', '};'].join('\n'),
  );
  expect(placeOf(config, ['agents', 'my-agent', 'kind'])).toBe(`${config}:5`);
  expect(placeOf(config, ['agents', 'my-agent', 'model'])).toBe(`${config}:4`);
  expect(placeOf(config, ['queues', 'chat'])).toBe(config);
  expect(placeOf(join(folder, 'none.ts'), ['agents'])).toBe(join(folder, 'none.ts'));
});
