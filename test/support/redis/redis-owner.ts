// Starts a Redis as a test does, says its port, and lives until it is killed.
import { startRedisProcess } from './redis-process.ts';

const { port } = await startRedisProcess({ args: ['--appendonly', 'yes'] });
process.stdout.write(`${port}\n`);
setInterval(() => undefined, 60_000);
