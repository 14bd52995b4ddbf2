import { courseIdInput, courseSchema, listCoursesInput } from '../../contract/courses';
import { pageOf } from '../../contract/pagination';
import { listSortedCoursesInput } from '../../contract/sorting';
import { totalSchema } from '../../contract/totals';
import { getCourse, listCourses, listSortedCourses } from '../domain/directories';
import { countCourses } from '../domain/totals';
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

  listSorted: integrationProcedure
    .input(listSortedCoursesInput)
    .output(pageOf(courseSchema))
    .query(({ ctx, input }) => listSortedCourses(ctx.domain, input)),

  count: integrationProcedure.output(totalSchema).query(({ ctx }) => countCourses(ctx.domain)),

  get: integrationProcedure
    .input(courseIdInput)
    .output(courseSchema)
    .query(({ ctx, input }) => getCourse(ctx.domain, input)),
});
