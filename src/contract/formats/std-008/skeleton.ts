import * as z from 'zod'

const Call = z.looseObject({
  call_id: z.string(),
  tool_name: z.string(),
  subagent_info: z.looseObject({ sub_session_id: z.string().optional() }).optional(),
})

/** The least a file must have for its links to be followed. */
export const Skeleton = z.looseObject({
  session_id: z.string(),
  tool_calls: z.array(Call),
  collaboration: z.looseObject({ mode: z.unknown() }),
  sub_sessions: z.array(
    z.looseObject({
      sub_session_id: z.string(),
      parent_session_id: z.string(),
      triggered_by_call_id: z.string(),
      tool_calls: z.array(Call),
    }),
  ),
})
