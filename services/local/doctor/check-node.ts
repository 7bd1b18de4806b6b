import type { Check } from './check.ts';

/** The first Node that runs our TypeScript as it is, in a line with long support. */
const NEEDED = { major: 24, minor: 12 };

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor);
  const detail = isEnough
    ? version
    : `${version} is too old: run Muster through npm scripts, or install Node ${NEEDED.major}.${NEEDED.minor}`;
  return { name: 'Node', state: isEnough ? 'ok' : 'fail', detail };
}
