import { serve } from './speaks-acp.mjs';

serve();
