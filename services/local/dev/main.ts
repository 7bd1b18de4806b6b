import { runDev } from './run-dev.ts';

await runDev();
