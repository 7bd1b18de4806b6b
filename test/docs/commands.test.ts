import { expect, it } from 'vitest';
import { commandPage } from './command-page.ts';

it('the page of the commands has what `--help` says, and nothing else', async () => {
  const page = commandPage();
  expect(page.match(/^## /gm)?.length).toBeGreaterThan(20);
  // `npx vitest run test/docs/commands.test.ts --update` writes it.
  await expect(page).toMatchFileSnapshot('../../docs/commands.md');
});
