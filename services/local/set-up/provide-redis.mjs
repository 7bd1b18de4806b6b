import { canInstallDebianPackages, findProgram, installDebianPackage, lastLines, runQuietly, runStep, SetUpProblem } from './programs.mjs';

/** Also named in services/local/redis/redis-program.ts, which runs it. */
const IMAGE = 'redis:7-alpine';
const OLDEST = [6, 2];

const FIXES = `Do one of these, and try again:
  - Debian, Ubuntu:  sudo apt-get install redis-server
  - macOS:           brew install redis
  - anywhere:        install Docker, or set REDIS_URL to a Redis of yours (6.2 or newer, appendonly yes, maxmemory-policy noeviction)`;

/**
 * Provides a redis-server: the user's own (REDIS_URL), the one on the PATH, a Debian package, Homebrew, Docker.
 * The tests start, kill and starve servers of their own, so for them a REDIS_URL is not enough.
 */
export async function provideRedis({ forTests }) {
  if ((process.env.REDIS_URL || process.env.REDIS_URL_FILE) && !forTests) return;
  if (findProgram(['redis-server'])) return checkVersion();

  const attempts = [];
  for (const provide of [fromDebian, fromHomebrew, ...(forTests ? [] : [fromDocker])]) {
    const result = await provide();
    if (result?.ok) return;
    if (result) attempts.push(lastLines(result.output));
  }
  throw new SetUpProblem(['There is no redis-server on this machine, and none could be installed.', FIXES, ...attempts].join('\n\n'));
}

async function checkVersion() {
  const { output } = await runQuietly(['redis-server', '--version']);
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined || Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])) return;
  throw new SetUpProblem(`Muster needs Redis ${OLDEST.join('.')} or newer, and redis-server on the PATH is ${major}.${minor}.\n\n${FIXES}`);
}

async function fromDebian() {
  return (await canInstallDebianPackages()) ? nowOnPath(await installDebianPackage('redis-server')) : null;
}

async function fromHomebrew() {
  const brew = findProgram(['brew']);
  return brew ? nowOnPath(await runStep('installing redis with Homebrew', [brew, 'install', '--quiet', 'redis'])) : null;
}

function nowOnPath({ ok, output }) {
  return { ok: ok && findProgram(['redis-server']) !== null, output };
}

async function fromDocker() {
  const docker = findProgram(['docker']);
  if (!docker) return null;
  const there = await runQuietly([docker, 'image', 'inspect', IMAGE]);
  return there.code === 0 ? { ok: true } : runStep(`fetching the image ${IMAGE}`, [docker, 'pull', '--quiet', IMAGE]);
}
