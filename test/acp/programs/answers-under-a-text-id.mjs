import { frame, serve, write } from './speaks-acp.mjs';

serve({ answer: (id, result) => write(frame({ id: String(id), result })) });
