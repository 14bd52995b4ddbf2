import { courseIdInput, courseSchema, listCoursesInput } from '../../contract/courses';
import { pageOf } from '../../contract/pagination';
import { getCourse, listCourses } from '../domain/directories';
import { integrationProcedure, router } from './trpc';

export const coursesRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/courses',
        operationId: 'listCourses',
        tags: ['Courses'],
        summary: 'List courses',
        description: 'The courses that the addresses of sessions name, by id.',
      },
    })
    .input(listCoursesInput)
    .output(pageOf(courseSchema))
    .query(({ ctx, input }) => listCourses(ctx.domain, input)),

  get: integrationProcedure
    .input(courseIdInput)
    .output(courseSchema)
    .query(({ ctx, input }) => getCourse(ctx.domain, input)),
});
