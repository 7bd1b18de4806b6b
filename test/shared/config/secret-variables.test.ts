import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { secretVariables } from '#shared/config/secrets/secret-variables.ts';
import { childEnvironment } from '../../support/test-environment.ts';

const PROGRAM = `
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { withdrawVariables } from '#shared/config/secrets/secret-variables.ts';
const withdrawn = withdrawVariables(['ONE_SECRET', 'NOT_SET']);
console.log(JSON.stringify({ withdrawn, inherited: execFileSync('env', { encoding: 'utf8' }), kernel: readFileSync('/proc/self/environ', 'utf8') }));
`;

it.runIf(process.platform === 'linux')(
  'a variable that was withdrawn is gone from what children inherit and from what the kernel shows of it',
  () => {
    const env = childEnvironment({ ONE_SECRET: 'hidden-value', ONE_SECRET_MORE: 'kept-value' });
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).not.toContain('hidden-value');
    const { withdrawn, inherited, kernel } = JSON.parse(stdout) as { withdrawn: boolean; inherited: string; kernel: string };
    expect(withdrawn).toBe(true);
    expect(inherited).toContain('ONE_SECRET_MORE=kept-value');
    expect(kernel).toContain('ONE_SECRET_MORE=kept-value');
  },
);

it('every variable of Muster that is named like a secret counts as one, and those that agents name', () => {
  const named = Object.keys(environmentSchema.shape).filter((name) => /TOKEN|SECRET|KEY|PASSWORD|REDIS_URL/.test(name));
  const known = new Set(secretVariables({ local: { kind: 'openai', model: 'any', apiKeyEnv: 'LOCAL_KEY' } }));
  // Its name says it: everybody may have that one.
  expect(named.filter((name) => !known.has(name))).toEqual(['DISCORD_PUBLIC_KEY']);
  expect(known).toContain('LOCAL_KEY');
});
