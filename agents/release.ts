import { type AgentFunction, TaskFailure } from 'muster/config';

const VERSION = /^\d+\.\d+\.\d+$/;

/**
 * The work of a release, in its order; yours calls outward. `key` is the same however often a step is tried, so that the other side can drop what
 * comes twice.
 */
const WORK: readonly [step: string, work: (version: string, key: string) => Promise<string>][] = [
  ['tag', (version) => Promise.resolve(`tagged v${version}`)],
  ['publish', (version) => Promise.resolve(`published ${version}`)],
  ['announce', (version) => Promise.resolve(`announced ${version}`)],
];

/**
 * Releases the version of its input once somebody else than the one who asked for it approves: an example of an agent that waits for people without a
 * slot, and does each of its steps once. Add `to: ['anna@example.com']` to say who may approve: here, as the task's context is its sender's.
 */
export const run: AgentFunction = async ({ input }, { ask, step, once, write }) => {
  const version = input.trim().replace(/^v/, '');
  if (!VERSION.test(version)) throw new TaskFailure('INVALID_INPUT', `Expected a version such as 1.4.0, got "${input.slice(0, 100)}"`);
  const changes = await step('read the changes', () => Promise.resolve(`What is new in ${version}`));
  const question = `Release ${version}?\n${changes}`;
  const answer = await ask({ question, choices: ['approve', 'reject'], by: 'others', timeoutMs: '2 days', default: 'reject' });
  if (answer === 'reject') return { output: `${version} was not released.`, result: { version, isReleased: false } };
  for (const [name, work] of WORK) {
    const done = await step(name, () => work(version, once(name)), { retries: 2, timeoutMs: '1 minute' });
    write(`${done}\n`);
  }
  return { result: { version, isReleased: true } };
};
