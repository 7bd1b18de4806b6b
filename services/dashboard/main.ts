import { runService } from '#shared/lifecycle/index.ts';
import { createDashboardService } from './create-dashboard-service.ts';

await runService('dashboard', createDashboardService);
