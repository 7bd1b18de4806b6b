import { runService } from '#shared/lifecycle/run-service.ts';
import { createDashboardService } from './create-dashboard-service.ts';

await runService('dashboard', createDashboardService);
