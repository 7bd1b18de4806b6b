import { expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { checkGrace } from '../../../../services/local/doctor/check-grace.ts';

const settings = settingsSchema.parse({
  agents: { writer: { kind: 'echo', timeoutMs: 600_000 }, quick: { kind: 'echo', timeoutMs: 1000 }, other: { kind: 'echo' } },
});

function check(variables: Record<string, string>): string[] {
  const env = environmentSchema.parse(variables);
  return checkGrace({ env, settings, readVariable: (name) => variables[name] }).map(({ state, detail }) => `${state} ${detail}`);
}

it('names each agent that may run for longer than a worker that ends waits', () => {
  expect(check({ SHUTDOWN_GRACE_MS: '25000' })).toEqual([
    expect.stringMatching(
      /^warn the agent writer may run for 10 min .*a worker that ends waits for 20\.0 s \(SHUTDOWN_GRACE_MS less 5 s\)/,
    ),
  ]);
  expect(check({ SHUTDOWN_GRACE_MS: '605000' })).toEqual([expect.stringMatching(/^ok /)]);
});

const pod = (seconds: string): string[] => check({ SHUTDOWN_GRACE_MS: '605000', POD_TERMINATION_GRACE_SECONDS: seconds });

it('names a pod that is killed before its worker has stopped', () => {
  expect(pod('30')).toEqual([expect.stringMatching(/^warn Kubernetes kills the pod after terminationGracePeriodSeconds \(30 s\)/)]);
  expect(pod('610')).toEqual([expect.stringMatching(/^ok /)]);
});

it('says nothing where nothing says how a worker is stopped', () => {
  expect(check({})).toEqual([]);
});
